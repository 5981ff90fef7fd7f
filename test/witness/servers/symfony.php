<?php
// Answers every request with the method and path that Symfony sees. php -S 127.0.0.1:PORT symfony.php
require 'Symfony/Component/HttpFoundation/autoload.php';

use Symfony\Component\HttpFoundation\Request;

Request::enableHttpMethodParameterOverride();
$request = Request::createFromGlobals();
header('Content-Type: application/json');
echo json_encode(['method' => $request->getMethod(), 'path' => $request->getPathInfo()]);
