# Answers every request with the method and path that Sinatra sees. ruby sinatra.rb PORT
require 'json'
require 'puma'
require 'rack/handler/puma'
require 'sinatra/base'

class Echo < Sinatra::Base
  enable :method_override
  disable :protection
  before do
    content_type :json
    halt 200, { method: request.request_method, path: request.path_info }.to_json
  end
end

Rack::Handler::Puma.run(Echo, Host: '127.0.0.1', Port: ARGV[0].to_i, Threads: '1:4', Silent: true)
