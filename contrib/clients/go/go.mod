module a-seed-6abb170e.example/fsquota.git/contrib/clients/go

go 1.19
