// Calls of the database's functions by the names of their parameters.

/** One table gives both the statement's text and its arguments, so that a parameter cannot get another one's value. */
export interface FunctionCall<Input> {
  readonly text: string
  arguments(input: Input): readonly unknown[]
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
  const named = Object.keys(parameters).map((parameter, index) => `${parameter} => $${index + 1}`)
  const values = Object.values(parameters)
  return {
    text: `/* writes */ select ${name}(${named.join(', ')}) as ${result}`,
    arguments: input => values.map(value => value(input))
  }
}
