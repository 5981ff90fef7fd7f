import { benchGateway } from './gateway.ts'

await benchGateway((line) => process.stdout.write(`${line}\n`))
