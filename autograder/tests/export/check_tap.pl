# check_tap.pl FILE - exits 0 where FILE is TAP 14 as https://testanything.org/tap-version-14-specification.html says, with
# every test point numbered and followed by a YAML block.  TAP::Parser, which reads the YAML, knows version 13 in Debian 12:
# it gets the same lines with that number.
use strict;
use warnings;
use TAP::Parser;

my ($path) = @ARGV;
open my $file, '<:encoding(UTF-8)', $path or die "$path: $!\n";
my @lines = <$file>;
sub wrong { print "line $_[0]: $_[1]\n"; exit 1 }

wrong(1, 'no version line') unless @lines && $lines[0] eq "TAP version 14\n";
my ($points, $plan, $in_yaml) = (0, undef, 0);
for my $i (1 .. $#lines) {
    my $line = $lines[$i];
    wrong($i + 1, 'no newline at the end, or a carriage return') unless $line =~ /\A[^\r\n]*\n\z/;
    if ($in_yaml) {
        if ($line eq "  ...\n") { $in_yaml = 0 }
        else { wrong($i + 1, "no YAML: $line") unless $line =~ /\A  (?:message: "(?:[^"\\]|\\.)*"|points: [0-9.e+-]+|possible: [0-9.e+-]+)\n\z/ }
    } elsif ($line eq "  ---\n") {
        wrong($i + 1, 'YAML behind no test point') unless $lines[$i - 1] =~ /\A(?:not )?ok /;
        $in_yaml = 1;
    } elsif ($line =~ /\A(?:not )?ok ([0-9]+) - (?:[^#\\\n]|\\[#\\])+( # SKIP .*)?\n\z/) {
        wrong($i + 1, "point $1 after $points") unless $1 == ++$points;
        wrong($i + 1, 'no YAML block') unless ($lines[$i + 1] // '') eq "  ---\n";
    } elsif ($line =~ /\A1\.\.([0-9]+)\n\z/) {
        wrong($i + 1, 'a second plan') if defined $plan;
        $plan = $1;
    } else {
        wrong($i + 1, "neither point nor plan: $line");
    }
}
wrong(scalar @lines, 'YAML without end') if $in_yaml;
wrong(scalar @lines, 'the plan is not the number of points') unless defined $plan && $plan == $points && $points > 0;

$lines[0] = "TAP version 13\n";
my $parser = TAP::Parser->new({tap => join '', @lines});
my $yaml = 0;
while (my $result = $parser->next) { $yaml++ if $result->is_yaml && defined $result->data->{message} }
wrong(0, join '; ', $parser->parse_errors) if $parser->parse_errors;
wrong(0, "TAP::Parser read $yaml messages of $points") unless $yaml == $points;
