// Runs several test files in one process, so that what they share starts once.
for (const file of JSON.parse(process.env['AGW_TEST_FILES'] ?? '[]') as string[]) await import(file)
