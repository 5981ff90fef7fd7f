// Loaded by an admin process before it starts (node --import). In the thread that serves the API, a request for /admin/block
// holds up the thread forever, and one for /admin/die ends it, as a lack of memory would.
import { Server } from 'node:http'
import { isMainThread, workerData } from 'node:worker_threads'

if (!isMainThread && typeof workerData?.api === 'string') {
  const emit = Reflect.get(Server.prototype, 'emit')
  Server.prototype.emit = function (event, ...rest) {
    const url = event === 'request' ? rest[0].url : ''
    if (url === '/admin/block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    if (url === '/admin/die') process.exit(9)
    return emit.call(this, event, ...rest)
  }
}
