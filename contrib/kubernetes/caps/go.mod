module fsquota/caps

go 1.19
