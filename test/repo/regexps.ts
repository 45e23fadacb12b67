// Finds the regular expressions that are written in a source text.

const KEYWORDS_BEFORE: ReadonlySet<string> = new Set(['return', 'typeof', 'case', 'in', 'of', 'void', 'await', 'yield'])
const SKIPPED = /\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y
const LITERAL = /\/((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+)\/([a-z]*)/y
const IDENTIFIER = /[\p{L}\p{N}_$]+/uy

/** The regular expressions of a file, in their order. What stands in a template's text is none; what stands in its braces may be. */
export function regexpsIn(source: string): readonly RegExp[] {
  const found: RegExp[] = []
  /** Of each brace that is open: whether a template goes on behind it. */
  const braces: boolean[] = []
  let before = ''
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(source)
    if (match !== null) at += match[0].length
    return match
  }
  const template = () => {
    while (at < source.length) {
      if (source[at] === '\\') at += 2
      else if (source[at] === '`') {
        at += 1
        before = '`'
        return
      } else if (source.startsWith('${', at)) {
        at += 2
        braces.push(true)
        before = '{'
        return
      } else at += 1
    }
  }
  while (at < source.length) {
    const character = source[at] ?? ''
    const skipped = take(SKIPPED)
    if (skipped !== null) {
      if (!skipped[0].startsWith('/')) before = "'"
      continue
    }
    const identifier = take(IDENTIFIER)
    if (identifier !== null) {
      before = identifier[0]
      continue
    }
    if (character === '/' && isOperand(before)) {
      const literal = take(LITERAL)
      if (literal === null) throw new Error(`no regular expression at ${source.slice(at, at + 40)}`)
      found.push(new RegExp(literal[1] ?? '', literal[2]))
      before = '/'
      continue
    }
    at += 1
    if (character === '`') template()
    else if (character === '{') braces.push(false)
    else if (character === '}' && braces.pop() === true) template()
    if (character.trim() !== '' && character !== '`') before = character
  }
  return found
}

/** Whether something to compute with comes next, and no division. */
function isOperand(before: string): boolean {
  return before === '' || KEYWORDS_BEFORE.has(before) || /^[(,=:[!&|?{};>+~<*%^-]$/.test(before)
}
