// What the bundles contain of undici: the parts that the product imports. The whole package also has a fetch, caches, mocks
// and a WebSocket client, which would be read at each start.
import api from '../node_modules/undici/lib/api/index.js'
import Dispatcher from '../node_modules/undici/lib/dispatcher/dispatcher.js'

// The package's own first file does the same.
Object.assign(Dispatcher.prototype, api)

export { default as buildConnector } from '../node_modules/undici/lib/core/connect.js'
export { default as errors } from '../node_modules/undici/lib/core/errors.js'
export { default as Client } from '../node_modules/undici/lib/dispatcher/client.js'
