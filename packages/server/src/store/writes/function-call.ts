// Calls of the database's functions by the names of their parameters.

/** One table gives both the statement's text and its arguments, so that a parameter cannot get another one's value. */
export interface FunctionCall<Input> {
  readonly text: string
  arguments(input: Input): readonly unknown[]
  /** How many parameters it has. */
  readonly size: number
  /** The call as an expression whose first parameter has this number. */
  expression(from: number): string
}

/**
 * A call of `name` that writes, and gives its result as `result`. `parameters` are the function's, in the order in which they are encoded.
 * Names go into the text as they are.
 */
export function functionCall<Input>(
  name: string,
  result: string,
  parameters: Readonly<Record<string, (input: Input) => unknown>>
): FunctionCall<Input> {
  const names = Object.keys(parameters)
  const values = Object.values(parameters)
  const expression = (from: number) =>
    `${name}(${names.map((parameter, index) => `${parameter} => $${from + index}`).join(', ')}) as ${result}`
  return {
    text: `/* writes */ select ${expression(1)}`,
    size: names.length,
    arguments: input => values.map(value => value(input)),
    expression
  }
}

/** The text of two calls in one statement and one commit, the first before the second. */
export function together<First, Second>(first: FunctionCall<First>, second: FunctionCall<Second>): string {
  return `/* writes */ select ${first.expression(1)}, ${second.expression(1 + first.size)}`
}
