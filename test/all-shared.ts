// The tests that share a stack in one process, so that Envoy and the store start once for all of them.
for (const file of (process.env['AGW_TEST_SHARED'] ?? '').split('\n')) await import(file)
