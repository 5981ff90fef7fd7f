<?php
// What PHP reads as api_key in each query: one line of Base64 in, one line of JSON out. See ../query-readers.ts.
while (($line = fgets(STDIN)) !== false) {
  parse_str(base64_decode(trim($line)) . '&api_key=ours', $seen);
  echo json_encode(['PHP' => $seen['api_key'] ?? null], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}
