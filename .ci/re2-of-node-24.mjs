// Preloaded on Node 24: `re2` is the one that was built for it, and children are started with this file too.
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

process.execPath = process.env.AGW_TEST_NODE

const url = pathToFileURL(process.env.AGW_TEST_RE2).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 're2'
      ? { url, format: 'commonjs', shortCircuit: true }
      : next(specifier, context),
})
