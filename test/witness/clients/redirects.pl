# Follows redirects and references and keeps cookies with LWP; reads its order on standard input, prints its version.
use strict;
use warnings;
use HTTP::Cookies;
use JSON::PP;
use LWP::UserAgent;
use URI;

my $order = decode_json(do { local $/; <STDIN> });
my @headers = %{ $order->{headers} };
sub agent { my $agent = LWP::UserAgent->new(timeout => 10, @_); $agent->default_header(@headers); return $agent }

agent()->get($_) for @{ $order->{redirects} };
for my $urls (@{ $order->{jars} }) {
    my $agent = agent(cookie_jar => HTTP::Cookies->new);
    $agent->get($_) for @$urls;
}
for my $url (@{ $order->{references} }) {
    my $answer = agent()->get($url);
    my @found = map { $answer->header($_) } qw(Location Content-Location Operation-Location Azure-AsyncOperation X-Goog-Upload-URL);
    push @found, map { /<([^<>]*)>/g } $answer->header('Link');
    push @found, map { (split /=/, $_, 2)[-1] } $answer->header('Refresh');
    push @found, map { /="([^"]*)"/g } $answer->header('WWW-Authenticate');
    for my $reference (grep { defined } @found) {
        $reference =~ s/^[\s'"]+|[\s'"]+$//g;
        my $absolute = eval { URI->new_abs($reference, $answer->base) };
        agent()->get($absolute) if defined $absolute && $absolute =~ /^https?:/i;
    }
}
print "LWP ", LWP->VERSION, "\n";
