// `npm run check`: all checks that run offline in a minute: format, lint, types, repository rules, and the quick unit tests.
import { launch } from './lib/launch.mjs'

await launch('scripts/testing/main.ts', ['--quick', ...process.argv.slice(2)])
