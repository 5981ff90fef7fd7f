#!/usr/bin/env node
import { endWithNpm } from './end-with-npm.mjs'
import { prepare } from './prepare.mjs'

endWithNpm()
await prepare()
await import('../dist/cli/bin.js')
