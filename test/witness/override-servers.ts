import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fromRoot } from '../../core/system/root.ts'
import { freePort } from '../kit/free-port.ts'
import { until } from '../kit/until.ts'

/** A real server that answers every request with the method and path that its framework sees. */
export interface WitnessServer {
  readonly name: string
  /** What it needs on this machine, for the message where that is missing. */
  readonly needs: string
  /** The versions of what reads the request. @throws where something is missing */
  readonly version: () => string
  /** @param folder for what has to be built, kept between runs */
  readonly command: (port: number, folder: string) => readonly [string, ...string[]]
}

const SERVERS = fromRoot('test', 'witness', 'servers')
const run = (program: string, ...given: string[]): string =>
  execFileSync(program, given, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
const debian = (...packages: string[]): string =>
  run('dpkg-query', '-W', '-f', '$' + '{Package} $' + '{Version}\n', ...packages).replaceAll(
    '\n',
    ', ',
  )
const npmVersion = (name: string): string =>
  `${name} ${JSON.parse(run('cat', fromRoot('node_modules', name, 'package.json'))).version}`

export const EXPRESS: WitnessServer = {
  name: 'express',
  needs: 'npm ci',
  version: () => ['express', 'method-override', 'qs'].map(npmVersion).join(', '),
  command: (port) => [process.execPath, join(SERVERS, 'express.mjs'), String(port)],
}

export const OVERRIDE_SERVERS: readonly WitnessServer[] = [
  EXPRESS,
  {
    name: 'symfony',
    needs: 'apt-get install php-cli php-symfony-http-foundation',
    version: () => debian('php8.2-cli', 'php-symfony-http-foundation'),
    command: (port) => ['php', '-S', `127.0.0.1:${port}`, join(SERVERS, 'symfony.php')],
  },
  {
    name: 'laravel',
    needs: 'apt-get install php-cli php-illuminate-http',
    version: () => debian('php8.2-cli', 'php-illuminate-http'),
    command: (port) => ['php', '-S', `127.0.0.1:${port}`, join(SERVERS, 'laravel.php')],
  },
  {
    name: 'sinatra',
    needs: 'apt-get install ruby-sinatra puma',
    version: () => debian('ruby-rack', 'ruby-sinatra', 'puma'),
    command: (port) => ['ruby', join(SERVERS, 'sinatra.rb'), String(port)],
  },
  {
    name: 'flask',
    needs: 'apt-get install python3-flask',
    version: () => debian('python3-flask', 'python3-werkzeug'),
    command: (port) => ['/usr/bin/python3', join(SERVERS, 'flask_app.py'), String(port)],
  },
  {
    name: 'mojolicious',
    needs: 'apt-get install libmojolicious-perl',
    version: () => debian('libmojolicious-perl'),
    command: (port) => [
      'perl',
      join(SERVERS, 'mojolicious.pl'),
      'daemon',
      '-l',
      `http://127.0.0.1:${port}`,
    ],
  },
  {
    name: 'plack',
    needs: 'apt-get install libplack-middleware-methodoverride-perl starman',
    version: () => debian('libplack-perl', 'libplack-middleware-methodoverride-perl'),
    command: (port) => [
      'plackup',
      '-s',
      'Starman',
      '--host',
      '127.0.0.1',
      '--workers',
      '2',
      '--port',
      String(port),
      join(SERVERS, 'plack.psgi'),
    ],
  },
  {
    name: 'gorilla',
    needs: 'Go',
    version: () => `${run('go', 'env', 'GOVERSION')}, gorilla/handlers 1.5.2`,
    command: (port, folder) => {
      const program = join(folder, 'gorilla')
      if (!existsSync(program)) {
        const source = join(folder, 'go')
        cpSync(join(SERVERS, 'go'), source, { recursive: true })
        execFileSync('go', ['build', '-mod=mod', '-o', program, '.'], { cwd: source })
      }
      return [program, String(port)]
    },
  },
  {
    name: 'spring',
    needs: 'JDK 17 and Maven',
    version: () => `${run('javac', '-version')}, spring-web 6.2.1, tomcat 10.1.34`,
    command: (port, folder) => {
      const source = join(folder, 'java')
      if (!existsSync(join(source, 'target'))) {
        cpSync(join(SERVERS, 'java'), source, { recursive: true })
        run(
          'mvn',
          '-q',
          '-B',
          '-f',
          join(source, 'pom.xml'),
          'package',
          'dependency:copy-dependencies',
        )
      }
      const classes = [join(source, 'target', 'classes'), join(source, 'target', 'dependency', '*')]
      return ['java', '-cp', classes.join(':'), 'Witness', String(port), folder]
    },
  },
]

export interface RunningServer {
  readonly port: number
  readonly stop: () => Promise<void>
}

const START_MS = 60_000

/** @throws where the server does not listen in time */
export async function startWitness(server: WitnessServer, folder: string): Promise<RunningServer> {
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const [program, ...given] = server.command(port, folder)
  const child = spawn(program, given, { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.once('error', () => {})
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      child.kill('SIGTERM')
      await ended
    }
  }
  try {
    await until(
      `${server.name} listens`,
      async () => {
        if (child.exitCode !== null) throw new Error(`${server.name} ended`)
        return await isListening(port)
      },
      START_MS,
    )
  } catch (error) {
    await stop()
    throw error
  }
  return { port, stop }
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
