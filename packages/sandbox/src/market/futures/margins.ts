/** Recorded margins of a futures root by their first day: `date,initial,maintenance` with a heading, `#` before remarks. */
import { readFile } from 'node:fs/promises'
import { BadMarketData } from '../lean/bad-data.ts'

export interface Margins {
  /** Money per contract. */
  readonly initialMargin: string
  readonly maintenanceMargin: string
}

const CHARS_MAX = 1_048_576
const ROW = /^(\d{4})(\d{2})(\d{2}),(\d{1,12}(?:\.\d{1,2})?),(\d{1,12}(?:\.\d{1,2})?)$/

/** The margins in force on a date: the last row that is not later; null if all are. @throws BadMarketData */
export async function marginsOn(file: string, date: string): Promise<Margins | null> {
  const content = await readFile(file, 'latin1')
  if (content.length > CHARS_MAX) throw new BadMarketData('zip_too_big', { file }, `${content.length} characters, ${CHARS_MAX} are allowed`)
  let found: Margins | null = null
  let before = ''
  for (const [index, line] of content.split(/\r?\n/).entries()) {
    if (index === 0 || line === '' || line.startsWith('#')) continue
    const [, year, month, day, initialMargin, maintenanceMargin] = ROW.exec(line) ?? []
    if (initialMargin === undefined || maintenanceMargin === undefined)
      throw new BadMarketData('columns', { file, line: index + 1 }, `${JSON.stringify(line.slice(0, 60))} is not date,initial,maintenance`)
    const begins = `${year}-${month}-${day}`
    if (begins < before) throw new BadMarketData('unsorted', { file, line: index + 1 }, `${begins} does not follow ${before}`)
    before = begins
    if (begins <= date) found = { initialMargin, maintenanceMargin }
  }
  return found
}
