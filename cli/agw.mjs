#!/usr/bin/env node
import { endWithNpm } from './end-with-npm.mjs'
import { NATIVE_COMMANDS } from './native-commands.mjs'
import { prepare } from './prepare.mjs'

endWithNpm()
await prepare(false, { needsNative: NATIVE_COMMANDS.has(process.argv[2]) })
await import('../dist/cli/bin.js')
