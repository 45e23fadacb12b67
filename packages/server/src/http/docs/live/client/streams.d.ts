// The same for the client's streams.
export * from '../../../../../../client/dist/types/streams/index.js'
