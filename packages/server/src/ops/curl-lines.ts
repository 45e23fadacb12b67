import type { DemoPlatform } from './demo-platform.ts'

/**
 * Three lines that work when pasted into any POSIX shell, in this order and as often as one likes: who offers what, a user, and a link to
 * connect that user's broker.
 */
export function curlLines(demo: DemoPlatform): readonly { readonly title: string; readonly line: string }[] {
  const { base_url: url, client_id: id, client_secret: secret } = demo
  const platform = `-H 'client-id: ${id}' -H 'client-secret: ${secret}'`
  const json = "-H 'content-type: application/json'"
  const user = `-H "user-id: $USER_ID" -H "user-secret: $USER_SECRET"`
  return [
    { title: 'See which brokers there are', line: `curl -sS -w '\\n' ${platform} ${url}/brokers` },
    {
      title: 'Create a user and keep its secret',
      line: `USER_ID=ada-$(date +%s)-$$; USER_SECRET=$(curl -sS ${platform} ${json} -d '{"user_id":"'$USER_ID'"}' ${url}/users | sed 's/.*"user-secret":"\\([^"]*\\)".*/\\1/'); echo "user $USER_ID was created"`
    },
    {
      title: 'Get a link on which that user connects a broker',
      line: `curl -sS -w '\\n' ${platform} ${user} ${json} -d '{"connection_type":"trade"}' ${url}/connections`
    }
  ]
}
