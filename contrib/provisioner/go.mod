module provisioner

go 1.19

require fsquota v0.0.0

replace fsquota => ../clients/go
