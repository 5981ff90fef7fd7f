module readers

go 1.21
