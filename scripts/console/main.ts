// `npm run console`: the types that the console takes from the service, then the console as the service serves it.
import { buildConsole, DIST } from './build.ts'
import { GENERATED, generate } from './generate.ts'

generate(GENERATED)
await buildConsole(DIST)
