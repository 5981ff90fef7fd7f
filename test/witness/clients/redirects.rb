# Follows redirects with open-uri, and references with URI.join; reads its order on standard input, prints its version.
require 'json'
require 'open-uri'
require 'timeout'

order = JSON.parse($stdin.read)

def get(url, order)
  Timeout.timeout(10) { URI.parse(url).open(order['headers'].dup) { |answer| return answer.base_uri, answer.meta if answer.read } }
rescue OpenURI::HTTPError => error
  [URI.parse(url), error.io.meta]
rescue StandardError => error
  warn "#{url} #{error}"
  nil
end

order['redirects'].each { |url| get(url, order) }
order['references'].each do |url|
  base, meta = get(url, order)
  next if meta.nil?

  meta.each do |name, value|
    found = case name
            when 'link' then value.scan(/<([^<>]*)>/).flatten
            when 'refresh' then [value.split('=', 2).last.to_s.strip.delete(%q('"))]
            when 'www-authenticate' then value.scan(/="([^"]*)"/).flatten
            when 'location', 'content-location', 'operation-location', 'azure-asyncoperation', 'x-goog-upload-url' then [value]
            else []
            end
    found.each do |reference|
      get(URI.join(base, reference).to_s, order)
    rescue URI::Error => error
      warn "#{reference} #{error}"
    end
  end
end
puts "open-uri of Ruby #{RUBY_VERSION}"
