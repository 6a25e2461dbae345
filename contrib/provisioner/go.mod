module provisioner

go 1.19

require a-seed-6abb170e.example/fsquota.git/contrib/clients/go v0.3.0

replace a-seed-6abb170e.example/fsquota.git/contrib/clients/go => ../clients/go
