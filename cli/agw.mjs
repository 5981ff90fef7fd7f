#!/usr/bin/env node
import { prepare } from './prepare.mjs'

await prepare()
await import('../dist/cli/bin.js')
