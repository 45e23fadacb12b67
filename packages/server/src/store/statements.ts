// Splits a migration's text into its statements: drivers that use the extended protocol take one at a time.

// Quoted texts and names, dollar-quoted bodies and comments: a semicolon inside one of these ends nothing.
const TOKEN = /'(?:[^']|'')*'|"[^"]*"|\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|;|[^'"$;/-]+|[\s\S]/g

/** The statements of `text`, without comments between them and without their semicolons. */
export function splitStatements(text: string): readonly string[] {
  const statements: string[] = []
  let current = ''
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === ';') {
      statements.push(current)
      current = ''
    } else if (!token.startsWith('--') && !token.startsWith('/*')) current += token
  }
  return [...statements, current].map(statement => statement.trim()).filter(statement => statement !== '')
}
