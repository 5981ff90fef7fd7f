import { main } from './commands/main.ts'

// The built command line, for images and tests; `cli/agw.mjs` first makes sure of packages and build.
await main(process.argv)
