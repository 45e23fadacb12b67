/** What the floor is asked: to read the front's market stream, and to be read. */
export type FloorQuestions = {
  readonly open: {
    readonly input: { readonly houseUrl: string; readonly symbols: readonly string[] }
    readonly output: { readonly url: string }
  }
}
