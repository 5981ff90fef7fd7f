# What readers of Perl read as api_key in each query: one line of Base64 in, one line of JSON out. See ../query-readers.ts.
use strict;
use warnings;
use CGI ();
use JSON::PP;
use MIME::Base64;
use Mojo::Parameters;
use Plack::Request;

$| = 1;
$CGI::LIST_CONTEXT_WARN = 0;
while (my $line = <STDIN>) {
  my $text = decode_base64($line) . '&api_key=ours';
  my %seen = (
    'Perl CGI' => scalar eval { CGI->new($text)->param('api_key') },
    'Mojolicious' => scalar eval { Mojo::Parameters->new($text)->param('api_key') },
    'Plack' => scalar eval { Plack::Request->new({QUERY_STRING => $text})->query_parameters->get('api_key') },
  );
  print encode_json(\%seen), "\n";
}
