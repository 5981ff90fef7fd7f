import { main } from '../../cli/main.ts'

// The built command line as it is: `cli/agw.mjs` would look for changed sources first, in every test that starts it.
await main(process.argv)
