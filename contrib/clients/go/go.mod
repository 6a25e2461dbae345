module fsquota

go 1.19
