// Writes docs/attacks.md: npm run attacks
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { filesBelow } from '../testing/files.ts'
import { AREAS } from './list.ts'
import { attacksPage } from './table.ts'
import { testsByAttack } from './titles.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(
    'npm run attacks    generates docs/attacks.md: which tests cover which attack, by the ids at the end of their titles. It takes no options.\n'
  )
} else {
  const tests = testsByAttack(filesBelow(ROOT), file => readFileSync(join(ROOT, file), 'utf8'))
  writeFileSync(join(ROOT, 'docs/attacks.md'), attacksPage(AREAS, tests))
  process.stdout.write('Wrote docs/attacks.md.\n')
}
