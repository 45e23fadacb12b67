// Finds the regular expressions that are written in a source text.
import { piecesOf } from './pieces.ts'

/** The regular expressions of a file, in their order. What stands in a template's text is none; what stands in its braces may be. */
export function regexpsIn(source: string): readonly RegExp[] {
  return piecesOf(source)
    .filter(({ kind }) => kind === 'regexp')
    .map(({ text }) => {
      const end = text.lastIndexOf('/')
      return new RegExp(text.slice(1, end), text.slice(end + 1))
    })
}
