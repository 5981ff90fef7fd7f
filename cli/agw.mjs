#!/usr/bin/env node
import { endWithNpm } from './end-with-npm.mjs'
import { prepare } from './prepare.mjs'

const CLIENT_COMMANDS = new Set([
  '--version',
  '--help',
  'help',
  'activity',
  'agents',
  'alerts',
  'allow',
  'completion',
  'dump',
  'edges',
  'env',
  'explain',
  'integrations',
  'keys',
  'kill',
  'kills',
  'listen',
  'lock',
  'locks',
  'login',
  'logout',
  'quickstart',
  'reactivate',
  'requests',
  'run',
  'scopes',
  'settings',
  'skill',
  'tokens',
  'unlock',
  'webhooks',
])

endWithNpm()
const [, , command, subcommand] = process.argv
// What only speaks to the admin API needs no compiled package.
await prepare(false, { needsNative: !CLIENT_COMMANDS.has(command) || subcommand === 'rotate' })
await import('../dist/cli/bin.js')
