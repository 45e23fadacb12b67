// `npm run console`: the types that the console takes from the service, then the console as the service serves it.
import { outFolder } from '../client/out.ts'
import { buildConsole, DIST } from './build.ts'
import { GENERATED, generate } from './generate.ts'

const USAGE = `npm run console -- [--out FOLDER]

Writes the types that the console takes from the API for operators, and builds the console.
  --out  where it is built, a folder which is emptied first; default packages/console/dist
`

const folder = outFolder(USAGE, DIST)
if (folder !== null) {
  generate(GENERATED)
  await buildConsole(folder)
}
