import hooks, { AsyncResource } from 'node:async_hooks'

// Loaded into the processes of the unit tests and of files that run alone. `node:test` follows every promise, timer and
// socket, to know which test an uncaught error comes from; that is a tenth of the CPU time of the tests. Here it follows only
// what runs directly in a test or suite, which is what a suite needs to know its tests. An uncaught error from anything else
// ends the process with its stack.

type Init = (id: number, type: string, trigger: number, resource: object) => void
type CreateHook = (callbacks: { readonly init: Init }) => {
  readonly enable: () => void
  readonly disable: () => void
}
const own = hooks as unknown as { createHook: CreateHook }
const { createHook } = own
// oxlint-disable-next-line typescript/unbound-method -- It is called with its object below.
const { runInAsyncScope } = AsyncResource.prototype

// The first hook is that of `node:test`, which is loaded after this module.
own.createHook = ({ init }) => {
  own.createHook = createHook
  AsyncResource.prototype.runInAsyncScope = function runFollowed(run, self, ...args) {
    init(this.asyncId(), '', this.triggerAsyncId(), this)
    return runInAsyncScope.call(this, run as () => unknown, self, ...args) as ReturnType<typeof run>
  }
  return { enable: () => undefined, disable: () => undefined }
}
