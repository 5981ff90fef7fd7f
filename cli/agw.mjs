#!/usr/bin/env node
import { prepare } from './prepare.mjs'

await prepare()
const { main } = await import('../dist/cli/main.js')
await main(process.argv)
