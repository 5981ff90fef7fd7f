<?php
// Follows redirects with PHP's http streams; reads its order on standard input, prints its version.
$order = json_decode(stream_get_contents(STDIN), true);
$lines = [];
foreach ($order['headers'] as $name => $value) $lines[] = "$name: $value";
foreach ($order['redirects'] as $url) {
    $context = stream_context_create(['http' => ['header' => $lines, 'timeout' => 10, 'ignore_errors' => true]]);
    @file_get_contents($url, false, $context);
}
echo 'http streams of PHP ' . PHP_VERSION . "\n";
