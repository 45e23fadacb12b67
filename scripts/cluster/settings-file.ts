// The settings of a node as a file for a shell, so that `npm run cli` can be run with them.
import { join } from 'node:path'
import { writePrivately } from './files.ts'

/** Writes the settings among the variables. Returns the file, which has secrets. */
export function writeSettings(dataDir: string, env: Readonly<Record<string, string | undefined>>): string {
  const settings = Object.entries(env).filter(([name, value]) => name.startsWith('TRUNKLINE_') && value !== undefined)
  const file = join(dataDir, 'settings.sh')
  writePrivately(file, settings.map(([name, value]) => `export ${name}=${quoted(value ?? '')}\n`).join(''))
  return file
}

/** As one word of a shell. */
export function quoted(text: string): string {
  return /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
