// Runs a TypeScript program of this repository: node scripts/run.mjs <file.ts> [arguments]
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { launch, ROOT } from './lib/launch.mjs'

const [file, ...args] = process.argv.slice(2)

if (file === undefined || !existsSync(resolve(ROOT, file))) {
  process.stderr.write(
    file === undefined ? 'usage: node scripts/run.mjs <file.ts> [arguments]\n' : `There is no ${file} in this checkout.\n`
  )
  process.exitCode = 2
} else await launch(file, args)
