"""The words the offline answerer knows by heart: function words, generic words, and names of the same thing."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _words(
    """
    a about above after again all also am an and any are aren as at be because been before being below between
    both but by can could d did didn do does doesn doing don done down during each either else ever few for
    from further had has have having he her here hers him his how i if in into is isn it its itself just let
    ll m may me might more most must my no nor not now of off on once one only onto or other our ours out over
    own per please re s same shall she should since so some such t than that the their theirs them then there
    these they this those through to too under until up upon us ve via was we were what when where whether
    which while who whom whose why will with within without won would yes you your yours
    """
)

# Words that carry a question rather than its topic: half the corpus may answer without repeating them.
SOFT_WORDS = _words(
    """
    able allow anything applicable apply ask available best between call come compare comparison compulsory
    cover describe detail differ difference exact exactly explain find first found general get give go good
    got happen help hold important inform information keep kind know like list long look make mandatory many
    mean meaning much necessary need new normally offer often okay overview people possible procedure process
    provide question quick quickly really regard regarding require required right say see show standard start
    still take tell thing think time try type typical typically understand use used usual usually versus vs
    want way work
    """
)

# The first words of what nobody can quote: an order, or a wish for one.
REQUEST_VERBS = _words(
    """
    arrange book buy calculate call cancel check compose confirm contact convert create delete draft email fix
    forward generate hire issue locate make modify notify open order pay prepare print process quote recommend
    register remind reschedule reserve schedule send sign submit suggest track transfer translate update
    upload write
    """
)

# Time words that ask for today's state of the world; a document answers them only if it says so itself.
LIVE_WORDS = _words("currently latest now today tomorrow tonight week yesterday")
CURRENT_WORDS = _words("current currently effective from now prevailing since")

# Capitals, but no names: a question's dates and sums are its own, not the documents'.
NOT_NAMES = _words(
    """
    april august december february friday january july june march may monday november october saturday september
    sunday thursday tuesday wednesday aud cny eur gbp hkd idr inr jpy krw myr php sgd thb usd vnd i am pm ok
    """
)

# Things a customer owns and the documents cannot see.
OWN_THINGS = _words(
    """
    account application balance bill booking box cargo claim consignment container delivery driver goods
    invoice item load order package parcel payment permit refund ship shipment truck vessel
    """
)

# Words that tell the form of the answer rather than its topic.
FORM_WORDS = {
    "amount": _words(
        """
        amount cost costs cutoff deadline duration far fast fee fees limit long many maximum minimum much
        off often percentage price rate rates threshold time times when
        """
    ),
    "list": _words(
        """
        document documentation documents items list options permits requirements steps types which
        """
    ),
    "comparison": _words("better compare comparison differ difference differences versus vs"),
    "definition": _words("abbreviation define definition mean meaning means stand stands"),
}

# One line a concept: every way to write it. The first name stands for all.
SAME_THING = """
bill of lading | bills of lading | bl | b l | hbl | mbl
electronic bill of lading | ebl | e bl | e b l
full container load | fcl
less than container load | less than a container load | lcl
certificate of origin | certificates of origin | coo
verified gross mass | vgm
estimated time of arrival | eta
estimated time of departure | etd | departure
air waybill | airway bill | air waybills | awb
service level agreement | service level agreements | sla | slas
dangerous goods | hazardous goods | hazardous materials | hazardous cargo | dangerous cargo | hazmat | dg
goods and services tax | gst
value added tax | vat
harmonized system | harmonised system | hs | hts
free trade agreement | free trade agreements | fta | ftas
free trade zone | free trade zones | ftz
demurrage and detention | d d | dnd
shipping instructions | shipping instruction
cash on delivery | cod
proof of delivery | pod
twenty foot equivalent unit | teu
out of gauge | oog
container freight station | cfs
container yard | cy
required | require | requirement | need | must | mandatory | necessary | compulsory | obligatory
document | documentation | paperwork | papers
reefer | refrigerated | temperature controlled | temperature control
ocean | sea | maritime
amend | change | modify | alter
submit | submission | lodge
fee | fees | cost | charge | price | surcharge
complain | complaint
pay | paid | payment
refuse | refusal | reject | rejection
buy | purchase
exporter | export
importer | import
Vietnam | Viet Nam | Vietnamese | VN
Singapore | SG | Singaporean
Indonesia | Indonesian
Malaysia | Malaysian
Thailand | Thai
Philippines | Philippine | Filipino
China | Chinese
Germany | German
United States | USA | American
United Kingdom | UK | British
Ho Chi Minh City | Ho Chi Minh | HCMC | HCMC City | Saigon
tariff | duty | duties
delay | delayed | late | overdue
license | licence
deadline | cut off | cutoff | cut offs
advance | ahead
"""
