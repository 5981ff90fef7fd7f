import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listenFailure } from '../../core/system/listen-failure.ts'

const SETTINGS = { host: 'AGW_API_HOST', port: 'AGW_API_PORT' }
const withCode = (code: string): Error => Object.assign(new Error(`listen ${code}`), { code })

test('what to change when a program cannot listen follows from the cause', () => {
  const rows: readonly (readonly [unknown, cause: RegExp, advice: RegExp])[] = [
    [withCode('EADDRINUSE'), /port is in use/, /^Stop the process .* AGW_API_PORT to another port/],
    [withCode('EACCES'), /not allowed to open/, /AGW_API_PORT to 1024 or higher/],
    [withCode('EADDRNOTAVAIL'), /does not have the address/, /AGW_API_HOST to .*127\.0\.0\.1/],
    [withCode('EAFNOSUPPORT'), /does not support/, /AGW_API_HOST/],
    [withCode('ENOTFOUND'), /cannot be resolved/, /AGW_API_HOST to an IP address/],
    [withCode('EAI_AGAIN'), /cannot be resolved/, /AGW_API_HOST to an IP address/],
    [withCode('EINVAL'), /listen EINVAL/, /AGW_API_HOST and AGW_API_PORT/],
    [new Error('No address added: [listen EADDRINUSE 10.0.0.1:9]'), /in use/, /Stop the process/],
    [new Error('bind failed: EADDRNOTAVAIL'), /does not have/, /AGW_API_HOST/],
    ['text', /^text$/, /AGW_API_HOST and AGW_API_PORT/],
  ]
  for (const [error, cause, advice] of rows) {
    const found = listenFailure(error, SETTINGS)
    assert.match(found.cause, cause)
    assert.match(found.advice, advice)
    assert.match(found.advice, /\.$/)
  }
  const echo = { host: null, port: 'AGW_ECHO_PORT' }
  for (const code of ['EADDRINUSE', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EOTHER'])
    assert.match(listenFailure(withCode(code), echo).advice, /AGW_ECHO_PORT/)
})
