// `npm run check`: what can be known in a minute, offline: format, lint, types, repository rules, and unit tests.
import { launch } from './lib/launch.mjs'

await launch('scripts/testing/main.ts', ['--quick', ...process.argv.slice(2)])
