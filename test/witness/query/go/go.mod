module query

go 1.20
