# Answers every request with the method and path that Mojolicious routes. perl mojolicious.pl daemon -l http://127.0.0.1:PORT
use Mojolicious::Lite -signatures;

app->log->level('fatal');
for my $method (qw(GET POST PUT PATCH DELETE OPTIONS)) {
  any [$method] => '/*any' => {any => ''} => sub ($c) {
    $c->render(json => {method => $method, path => $c->req->url->path->to_string});
  };
}
app->start;
