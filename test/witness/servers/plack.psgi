# Answers every request with the method and path behind Plack's override. plackup -s Starman --port PORT plack.psgi
use strict;
use warnings;
use JSON::PP;
use Plack::Builder;

builder {
  enable 'MethodOverride';
  sub {
    my $env = shift;
    my $text = encode_json({method => $env->{REQUEST_METHOD}, path => $env->{PATH_INFO}});
    [200, ['Content-Type', 'application/json', 'Content-Length', length $text], [$text]];
  };
};
