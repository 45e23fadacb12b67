// `npm start`: the whole service on one port, with its database and the sandbox brokerage.
import { launch } from './lib/launch.mjs'

await launch('packages/server/src/main.ts', process.argv.slice(2))
