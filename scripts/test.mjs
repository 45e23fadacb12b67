// `npm test`: every check and every test. The work is in testing/main.ts, which runs on the pinned Node.
import { launch } from './lib/launch.mjs'

await launch('scripts/testing/main.ts', process.argv.slice(2))
