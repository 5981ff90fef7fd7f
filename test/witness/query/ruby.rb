# What readers of Ruby read as api_key in each query: one line of Base64 in, one line of JSON out. See ../query-readers.ts.
require 'base64'
require 'cgi'
require 'json'
require 'rack/utils'

READERS = {
  'Rack' => ->(text) { Rack::Utils.parse_nested_query(text)['api_key'] },
  'Rack, flat' => ->(text) { Rack::Utils.parse_query(text)['api_key'] },
  'Ruby CGI' => ->(text) { CGI.parse(text)['api_key'].first },
}
$stdin.each_line do |line|
  text = "#{Base64.decode64(line)}&api_key=ours"
  seen = READERS.to_h do |name, read|
    [name, read.call(text)]
  rescue StandardError
    [name, nil]
  end
  puts JSON.generate(seen)
  $stdout.flush
end
