# SPDX-License-Identifier: Apache-2.0
"""An API server for the tests beside this file: the etcd and kube-apiserver of tests/guest/apiserver, with RBAC"""
import json
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

import yaml

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.path.basename(sys.argv[0])
children = []


def start(words, **options):
    """A process that end_children() ends"""
    children.append(subprocess.Popen(words, **options))
    return children[-1]


def end_children():
    for one in children:
        one.terminate()
        one.wait()


def until(what, condition, seconds=60):
    """Wait for a condition. Return what it returns"""
    end = time.monotonic() + seconds
    while True:
        got = condition()
        if got:
            return got
        if time.monotonic() > end:
            sys.exit(f"{PROGRAM}: never: {what}")
        time.sleep(0.02)


def replace(path, text):
    new = path.with_name(f".{path.name}.new")
    new.write_text(text)
    new.rename(path)


class Server:
    """etcd and kube-apiserver in a directory"""

    def __init__(self, work):
        self.programs = subprocess.run([TOP / "tests/guest/apiserver"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        self.work, self.process = work, None
        self.etcd_port, etcd_peer, self.port = self.ports(3)
        subprocess.run(["openssl", "genrsa", "-out", work / "key", "2048"], check=True, stderr=subprocess.DEVNULL)
        (work / "tokens").write_text("admin,admin,admin,system:masters\n")
        start(
            [f"{self.programs}/etcd", "--data-dir", work / "etcd", "--listen-client-urls", f"http://127.0.0.1:{self.etcd_port}",
             "--advertise-client-urls", f"http://127.0.0.1:{self.etcd_port}", "--listen-peer-urls", f"http://127.0.0.1:{etcd_peer}"],
            stdout=open(work / "etcd.log", "wb"), stderr=subprocess.STDOUT)
        self.start()

    @staticmethod
    def ports(count):
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
        numbers = [one.getsockname()[1] for one in sockets]
        for one in sockets:
            one.close()
        return numbers

    def start(self):
        work = self.work
        self.process = start(
            [f"{self.programs}/kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{self.etcd_port}", "--cert-dir", work / "certs",
             "--secure-port", str(self.port), "--bind-address", "127.0.0.1", "--service-cluster-ip-range", "10.0.0.0/24",
             "--authorization-mode", "RBAC", "--token-auth-file", work / "tokens", "--service-account-key-file", work / "key",
             "--service-account-signing-key-file", work / "key", "--service-account-issuer", "https://kubernetes.default.svc",
             # Whoever makes the accounts is not here.
             "--disable-admission-plugins", "ServiceAccount"],
            stdout=open(work / "apiserver.log", "ab"), stderr=subprocess.STDOUT)
        until("the API server answers", self.is_ready, 300)

    def is_ready(self):
        if self.process.poll() is not None:
            sys.exit(f"{PROGRAM}: kube-apiserver has ended: {(self.work / 'apiserver.log').read_text()[-2000:]}")
        try:
            return self.call("GET", "/api/v1/namespaces/kube-system") and self.call("GET", "/readyz", raw=True)
        except (OSError, urllib.error.URLError):
            return False

    def call(self, method, path, body=None, raw=False):
        context = ssl.create_default_context(cafile=self.work / "certs/apiserver.crt")
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}", method=method,
                                         data=json.dumps(body).encode() if body else None,
                                         headers={"Authorization": "Bearer admin", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, context=context, timeout=60) as answer:
            return answer.read() if raw else json.load(answer)

    def create_account(self):
        """The ServiceAccount of overlays/caps and its rights. Return the ClusterRole"""
        role = None
        for one in yaml.safe_load_all((TOP / "contrib/kubernetes/overlays/caps/account.yaml").read_text()):
            where = {"ServiceAccount": "/api/v1/namespaces/kube-system/serviceaccounts",
                     "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
                     "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"}[one["kind"]]
            self.call("POST", where, one)
            role = one if one["kind"] == "ClusterRole" else role
        return role
