/** Reads one message from its text to the record that a program uses. Returns the number of records. */
export type Reading = (text: string) => number

export interface Readings {
  readonly order: Reading
  readonly trade: Reading
  readonly quote: Reading
}

export const MESSAGE_KINDS = ['order', 'trade', 'quote'] as const
export type Kind = (typeof MESSAGE_KINDS)[number]
