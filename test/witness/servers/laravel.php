<?php
// Answers every request with the method and path that Laravel sees. php -S 127.0.0.1:PORT laravel.php
require 'Illuminate/Http/autoload.php';

use Illuminate\Http\Request;

$request = Request::capture();
header('Content-Type: application/json');
echo json_encode(['method' => $request->getMethod(), 'path' => $request->getPathInfo()]);
