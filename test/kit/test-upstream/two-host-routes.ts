import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../temp-folder.ts'
import type { UpstreamRoute } from './received-request.ts'

/** The token that a client gets from the token host, and shows to the registry. */
export const REGISTRY_TOKEN = 'token-of-the-token-host'

const WHEEL = 'demo-1.0-py3-none-any.whl'
const MAKE_PACKAGES = `
import io, tarfile, zipfile
with zipfile.ZipFile('${WHEEL}', 'w') as wheel:
    wheel.writestr('demo.py', 'x = 1')
    wheel.writestr('demo-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n')
    wheel.writestr('demo-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('demo-1.0.dist-info/RECORD', '')
with tarfile.open('demo-1.0.0.tgz', 'w:gz') as package:
    text = b'{"name": "demo", "version": "1.0.0"}'
    entry = tarfile.TarInfo('package/package.json')
    entry.size = len(text)
    package.addfile(entry, io.BytesIO(text))
`

const PLACE = /^\/(git|releases|v2|files|simple|absolute|npm)\//
type Place = 'git' | 'releases' | 'v2' | 'files' | 'simple' | 'absolute' | 'npm'

/** Packages are made when the first is asked for, since few tests do. */
function assetMaker(): (name: string) => Buffer | undefined {
  let folder: string | null = null
  return (name) => {
    if (name === 'asset.bin') return Buffer.from('the asset')
    if (name !== WHEEL && name !== 'demo-1.0.0.tgz') return undefined
    if (folder === null) {
      folder = tempFolder('packages')
      execFileSync('python3', ['-c', MAKE_PACKAGES], { cwd: folder })
    }
    return readFileSync(join(folder, name))
  }
}

/** A vendor that answers with a second host: what it hosts, tokens and assets are there. */
export function twoHostRoutes(git: UpstreamRoute, cdn: string): UpstreamRoute {
  const assetOf = assetMaker()
  return (received, request, response) => {
    const port = /:\d+$/.exec(received.host)?.[0] ?? ''
    const { pathname, search } = new URL(received.path, 'http://stand-in')
    const name = pathname.slice(pathname.lastIndexOf('/') + 1)
    const moved = (status: number, path: string): true => {
      response.writeHead(status, { location: `https://${cdn}${port}${path}` }).end()
      return true
    }
    const answer = (type: string, body: string | Buffer | undefined): boolean => {
      if (body !== undefined) response.writeHead(200, { 'content-type': type }).end(body)
      return body !== undefined
    }
    if (received.host.startsWith(cdn)) {
      if (pathname.startsWith('/demo.git/')) return git(received, request, response)
      return pathname === '/token'
        ? answer('application/json', JSON.stringify({ token: REGISTRY_TOKEN }))
        : answer('application/octet-stream', assetOf(name))
    }
    switch (PLACE.exec(pathname)?.[1] as Place | undefined) {
      case 'git':
        return moved(301, pathname.slice('/git'.length) + search)
      case 'releases':
      case 'files':
        return moved(302, `/assets/${name}?sig=1`)
      case 'v2':
        if (received.header('authorization') === `Bearer ${REGISTRY_TOKEN}`)
          return moved(307, '/assets/asset.bin')
        response
          .writeHead(401, {
            'www-authenticate': `Bearer realm="https://${cdn}${port}/token",service="registry"`,
          })
          .end()
        return true
      case 'simple':
        return answer('text/html', `<a href="../../files/${WHEEL}">${WHEEL}</a>`)
      case 'absolute':
        return answer('text/html', `<a href="https://${cdn}${port}/assets/${WHEEL}">${WHEEL}</a>`)
      case 'npm': {
        if (name.endsWith('.tgz')) return moved(302, `/assets/${name}`)
        const tarball = `https://${cdn}${port}/assets/demo-1.0.0.tgz`
        const version = { name: 'demo', version: '1.0.0', dist: { tarball } }
        return answer(
          'application/json',
          JSON.stringify({
            name: 'demo',
            'dist-tags': { latest: '1.0.0' },
            versions: { '1.0.0': version },
          }),
        )
      }
      case undefined:
        return false
    }
  }
}
